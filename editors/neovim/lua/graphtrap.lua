-- What a user's configuration calls. Everything else is in the modules below this one.

local M = {}

--- Changes the defaults of |graphtrap-settings|. Not needed to start.
---@param options? graphtrap.Options
function M.setup(options)
  require("graphtrap.config").setup(options or {})
end

--- For the statusline: who started the failure that the current buffer shows, how far an analysis is, or "".
---@param buf? integer
---@return string
function M.statusline(buf)
  return require("graphtrap.statusline").text(buf or vim.api.nvim_get_current_buf())
end

return M
