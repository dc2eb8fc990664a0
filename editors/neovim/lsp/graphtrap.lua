---@brief
---
--- https://github.com/graphtrap/graphtrap
---
--- Diagnoses logs of failed distributed PyTorch jobs: who started it, why, and what to do.
--- For Neovim 0.11 and newer: put this folder on the 'runtimepath', then `vim.lsp.enable("graphtrap")`.

---@type vim.lsp.Config
return {
  cmd = { "graphtrap", "serve", "--stdio" },
  filetypes = { "log", "python" },
  root_markers = { ".git" },
  -- What is typed into the source is known before an edit of it is asked for.
  flags = { debounce_text_changes = 0 },
}
