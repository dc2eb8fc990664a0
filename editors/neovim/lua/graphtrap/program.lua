-- The server's program on this machine.

local config = require("graphtrap.config")

local M = {}

--- The program's path, or nil and what to do.
---@return string? path, string? trouble
function M.find()
  local name = config.get().cmd[1] or ""
  local path = vim.fn.exepath(name)
  if path ~= "" then
    return path
  end
  local where = name:find("/") and ("there is no program %s"):format(name)
    or ("`%s` is not on the PATH"):format(name)
  return nil, where .. ': install it, or name it: require("graphtrap").setup({ cmd = { "/path/to/graphtrap", "serve", "--stdio" } })'
end

--- What the program says of itself, or nil and why it does not.
---@param path string
---@return string? version, string? trouble
function M.version(path)
  local started, process = pcall(vim.system, { path, "--version" }, { text = true, timeout = 5000 })
  if not started then
    return nil, tostring(process)
  end
  local done = process:wait()
  local said = vim.trim(done.stdout or "")
  if done.code ~= 0 or not said:find("graphtrap") then
    return nil, ("%s --version ended with %d and said: %s"):format(path, done.code, vim.trim(said .. " " .. (done.stderr or "")))
  end
  return said
end

return M
