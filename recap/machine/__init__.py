"""What a machine has or needs: devices, memory, text that is safe to print, pages from templates."""
