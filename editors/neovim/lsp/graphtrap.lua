---@brief
---
--- https://github.com/graphtrap/graphtrap
---
--- Diagnoses logs of failed distributed PyTorch jobs: who started it, why, and what to do.
---
--- `graphtrap` must be on the PATH. Logs need the filetype `log`, which Neovim does not set for all of them:
---
--- ```lua
--- vim.filetype.add({ extension = { log = "log", out = "log", err = "log" } })
--- ```

---@type vim.lsp.Config
return {
  cmd = { "graphtrap", "serve", "--stdio" },
  filetypes = { "log", "python" },
  root_markers = { ".git" },
  -- A fix is made for the source as it is in the buffer, so the server must know it before it is asked.
  flags = { debounce_text_changes = 0 },
}
