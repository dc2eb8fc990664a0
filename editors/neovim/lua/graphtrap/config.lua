-- The user's settings over the defaults.

---@class (exact) graphtrap.Config
---@field cmd string[] the server: a program on the PATH or a whole path, and its arguments
---@field autostart boolean attach to logs when they are opened
---@field patterns string[] names of logs, as in autocommands, whatever their filetype
---@field root_markers string[] a folder with one of these is a workspace folder
---@field max_bytes integer larger files are read from disk by the server, and only when asked
---@field signs boolean mark the lines in the sign column
---@field sign_initiator string one or two cells
---@field sign_collateral string
---@field virtual_text boolean say it beside the lines, too
---@field border string|string[] of floating windows, as for |nvim_open_win()|
---@field settings graphtrap.ServerSettings what the server is told

---@class graphtrap.ServerSettings
---@field rankOfInterest? integer
---@field pathMappings? { from: string, to: string }[]
---@field suppressions? string[]
---@field signatureFolder? string
---@field automaticAnalysis? boolean
---@field collateralSeverity? "hint"|"information"|"warning"|"none"
---@field maxDocumentBytes? integer
---@field semanticTokens? boolean

---@class graphtrap.Options: graphtrap.Config all of it may be left out

local M = {}

---@type graphtrap.Config
M.defaults = {
  cmd = { "graphtrap", "serve", "--stdio" },
  autostart = true,
  patterns = { "*.log", "*.out", "*.err" },
  root_markers = { ".git" },
  max_bytes = 64 * 1024 * 1024,
  signs = true,
  sign_initiator = ">>",
  sign_collateral = "··",
  virtual_text = true,
  border = "rounded",
  settings = {},
}

---@type graphtrap.Config?
local current

--- Names what is wrong with the options; the right ones are used.
---@param options table
---@return table right, string[] wrong
local function checked(options)
  local right, wrong = {}, {}
  for key, value in pairs(options) do
    local default = M.defaults[key]
    if default == nil then
      wrong[#wrong + 1] = ("%s is no setting"):format(key)
    elseif type(value) ~= type(default) and not (key == "border" and type(value) == "table") then
      wrong[#wrong + 1] = ("%s must be a %s, and is a %s"):format(key, type(default), type(value))
    else
      right[key] = value
    end
  end
  table.sort(wrong)
  return right, wrong
end

---@param options table
function M.setup(options)
  local right, wrong = checked(options)
  current = vim.tbl_extend("force", M.defaults, right)
  M.wrong = wrong
  if #wrong > 0 then
    vim.notify("graphtrap: " .. table.concat(wrong, "; "), vim.log.levels.WARN)
  end
end

--- What was wrong with the options, for |:checkhealth|.
---@type string[]
M.wrong = {}

---@return graphtrap.Config
function M.get()
  if not current then
    M.setup(vim.g.graphtrap or {})
  end
  return current --[[@as graphtrap.Config]]
end

return M
