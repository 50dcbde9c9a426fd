"""Adam with the paper's parameter groups: backbone, calibration networks, and the prior's scalars."""

from typing import Final

import torch

from recap.model.config import Stage
from recap.model.recap import Recap
from recap.training_config import OptimiserConfig

BACKBONE: Final = "backbone"


def build_optimiser(model: Recap, config: OptimiserConfig) -> torch.optim.Adam:
    """One Adam over named groups.

    ``prior`` holds the scalars of Eq. 9 and lambda_corr, ``evidence`` the weights of a model with evidence (both
    without weight decay), ``calibration`` the networks of Eqs. 10-12 and 23, ``backbone`` everything else, E_poi
    included.
    """
    prior = list(model.prior.parameters()) if model.prior is not None else []
    calibration = []
    if model.calibration is not None:
        prior.append(model.calibration.scale)
        calibration = [p for p in model.calibration.parameters() if p is not model.calibration.scale]
    evidence = list(model.evidence.parameters()) if model.evidence is not None else []
    taken = {id(parameter) for parameter in (*prior, *calibration, *evidence)}
    backbone = [parameter for parameter in model.parameters() if id(parameter) not in taken]
    rate = config.learning_rate
    groups = [
        {"name": BACKBONE, "params": backbone, "base_lr": rate, "weight_decay": config.weight_decay},
        {
            "name": "calibration",
            "params": calibration,
            "base_lr": config.calibration_learning_rate or rate,
            "weight_decay": config.weight_decay,
        },
        {"name": "prior", "params": prior, "base_lr": config.prior_learning_rate or rate, "weight_decay": 0.0},
        {"name": "evidence", "params": evidence, "base_lr": config.evidence_learning_rate or rate, "weight_decay": 0.0},
    ]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=rate, fused=True)


def set_learning_rates(optimiser: torch.optim.Adam, stage: Stage) -> dict[str, float]:
    """Apply a stage's scale to the backbone group; returns name -> learning rate."""
    for group in optimiser.param_groups:
        group["lr"] = group["base_lr"] * (stage.backbone_lr_scale if group["name"] == BACKBONE else 1.0)
    return {group["name"]: group["lr"] for group in optimiser.param_groups}
