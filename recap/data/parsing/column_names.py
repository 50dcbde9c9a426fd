"""What the name of a column says in English, German, French, Spanish, Portuguese, Italian, Dutch and others."""

import re
import unicodedata
from functools import cache
from typing import Final

_NOISE: Final = """zip postal postcode plz cep cap price preis prix precio prezzo preco prijs fiyat cena rating stars
score review bewertung note phone tel telefon mobile fax mail email url website web temp temperature wetter weather age
alter edad gender sex birth geburt naissance city stadt ville ciudad citta cidade stad country land pays state region
district quarter bezirk barrio duration dauer duree
duracion durata duur stay spent length distance dist accuracy precision speed altitude elevation radius count qty
quantity anzahl amount betrag total sum comment text row index zeile ligne weekday month year dow rank version
payment currency status update updated modified changed deleted synced 价格 電話 电话 評価 城市 город цена телефон"""
_WORDS: Final = {
    "tz": """tz tzid timezone zeitzone fuseau huso fuso tijdzone offset utcoffset tzoffset tzname 时区 時差
        пояс""",
    "lat": """lat latitude latitud latitudine breite breitengrad breedtegraad szerokosc enlem y 纬度 緯度
        широта""",
    "lon": """lon lng long longitude longitud longitudine lange laenge langengrad lengtegraad dlugosc
        boylam x 经度 經度 経度 долгота""",
    "category": """category categories kategorien categorias categorie kategorie categoria kategoria
        kategori cat catid catname type typ tipo kind genre art sort class amenity branche rubrik rubro
        soort rodzaj tur 类别 類別 类型 カテゴリ 種類 категория тип""",
    "name": """name nombre nom nome naam bezeichnung titel title label nazwa isim 名称 名稱 名前 店名 название
        имя""",
    "split": "split splittag",
    "time": """time from von desde to until bis hasta timestamp ts datetime date day at when zeit
        zeitpunkt zeitstempel datum tag uhrzeit wann besuch besucht heure horodatage quand moment instant
        visite fecha hora cuando visita data ora quando orario momento tijd tijdstip wanneer bezoek
        checkin visit visited arrival arrived arrive ankunft arrivee llegada arrivo chegada aankomst
        start begin beginn debut inicio inizio entry enter entered entrada entrata departure departed
        depart left leave exit end ende abfahrt salida partida uscita partenza vertrek einde created
        logged recorded epoch unix utc gmt t clock zaman tarih saat czas kiedy godzina 时间 時間 日期 日時 日付 到店
        время дата когда""",
    "trajectory": "trajectory traj trajid trip session tour journey track fahrt reise sitzung route recorrido",
    "user": """user uid usr person people member client customer cust kunde kund klant cliente client
        usuario utilisateur utilizador utente gebruiker benutzer nutzer besucher visitor visiteur
        visitante visitatore bezoeker passenger traveller traveler account device driver rider employee
        persona personne pessoa persoon entity who wer qui quien quem chi wie guest patron subject
        participant agent mitglied teilnehmer membre abonne socio kullanici musteri uye uzytkownik klient
        osoba kto author 用户 用戶 顾客 顧客 客户 会员 会員 ユーザ 利用者 пользователь клиент посетитель кто""",
    "poi": """poi venue place spot location loc shop store branch site stop station restaurant outlet
        business merchant item geo filiale filial laden geschaft markt standort ort haltestelle lokal
        betrieb lieu magasin boutique endroit etablissement tienda lugar local sitio sucursal comercio
        negozio luogo posto punto loja winkel plaats plek locatie vestiging where wo donde dove onde ou
        waar mekan yer magaza sube miejsce sklep gdzie facility 地点 地點 场所 店 商店 門店 場所 место магазин
        заведение где""",
}
"""Field -> words; of fields that a name means equally the first: `venue_lat` is a latitude."""
_MARKS: Final = {
    "id": "id ids nr no num number code key uuid guid ref hash nummer numero kennung kod kodu 编号 番号 номер код",
    "local": "local lokal locale lokale ortszeit localtime timelocal",
    "utc": "utc gmt",
    "end": """depart departure departed end left leave exit abfahrt salida partida
        uscita partenza vertrek einde to until bis hasta""",
}
_LETTERS: Final = str.maketrans("łıøßđ", "liosd")
_KNOWN: Final = {field: frozenset(words.split()) for field, words in {"noise": _NOISE, **_WORDS, **_MARKS}.items()}

EXACT: Final = 3.0
"""Points of a name that is a field's word; half a point less where one of its words is, one where one begins so."""


def words_of(column: str) -> list[str]:
    """The words of a name in small letters without accents.

    >>> words_of("Venue.GeoBreite"), words_of("customerID")
    (['venue', 'geo', 'breite'], ['customer', 'id'])
    """
    column = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", column)
    plain = unicodedata.normalize("NFKD", column.lower().translate(_LETTERS))
    plain = "".join(letter for letter in plain if not "\u0300" <= letter <= "\u036f")
    return re.findall(r"[^\W\d_]+", unicodedata.normalize("NFC", plain))


def says(column: str, mark: str) -> bool:
    """Whether a name has a word for an id, local or utc times, or the end of a stay."""
    return _points(words_of(column), _KNOWN[mark]) > EXACT - 1


@cache
def field_of(column: str) -> tuple[str, float]:
    """The field of `--map` that a name means, with points: ``("", 0)`` means nothing, ``("", -1)`` something else.

    >>> field_of("KundenNr"), field_of("venue_lat"), field_of("store_zip"), field_of("checkin_id")
    (('user', 2.0), ('lat', 2.5), ('', -1.0), ('', -1.0))
    """
    words = words_of(column)
    found = {field: points for field in ("noise", *_WORDS) if (points := _points(words, _KNOWN[field]))}
    noise = found.pop("noise", 0)
    field = max(found, key=lambda field: found[field], default="")
    if noise and "tz" not in found and found.get(field, 0) < EXACT:
        return "", -1.0
    if field == "name" and "user" in found:  # tells who it is, if worse than a number
        return "user", 1.5
    if field == "time" and says(column, "id"):
        field = "user" if "user" in found else "poi" if "poi" in found else ""
        return field, found.get(field, -1.0)
    return field + "_id" * (field == "category" and says(column, "id")), found.get(field, 0.0)


def _points(words: list[str], known: frozenset[str]) -> float:
    if "".join(words) in known or (len(words) == 2 and words[1] in _KNOWN["id"] and words[0] in known):
        return EXACT
    if known & set(words):
        return EXACT - 0.5
    long = tuple(word for word in known if len(word) > 3 or not word.isascii())
    return (EXACT - 1) * any(word.startswith(long) or word.endswith(long) for word in words)
