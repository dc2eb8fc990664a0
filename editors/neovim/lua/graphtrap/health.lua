-- :checkhealth graphtrap

local client = require("graphtrap.client")
local config = require("graphtrap.config")
local program = require("graphtrap.program")

local M = {}

local function neovim()
  vim.health.start("graphtrap: Neovim")
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("Neovim " .. version)
  else
    vim.health.error("Neovim " .. version, "0.10 or newer is needed")
  end
end

local function settings()
  vim.health.start("graphtrap: settings")
  local user = config.get()
  for _, wrong in ipairs(config.wrong) do
    vim.health.warn(wrong, ":help graphtrap-settings")
  end
  if #config.wrong == 0 then
    vim.health.ok("all settings are known")
  end
  if user.autostart then
    vim.health.info("logs are attached when they are opened: " .. table.concat(user.patterns, " "))
  else
    vim.health.info("logs are attached when :GraphTrap is used")
  end
end

local function server()
  vim.health.start("graphtrap: server")
  local path, trouble = program.find()
  if not path then
    vim.health.error(trouble --[[@as string]])
    return
  end
  local version, why = program.version(path)
  if version then
    vim.health.ok(("%s: %s"):format(path, version))
  else
    vim.health.error(why --[[@as string]], "it does not look like graphtrap: set cmd")
  end
end

local function session()
  vim.health.start("graphtrap: session")
  local running = client.current()
  if not running then
    vim.health.info("the server is not running: it starts with the first log")
    return
  end
  vim.health.ok(("running for %d buffers, positions in %s"):format(
    #vim.lsp.get_buffers_by_client_id(running.id),
    running.offset_encoding
  ))
  for _, folder in ipairs(running.workspace_folders or {}) do
    vim.health.info("sources are looked for, and edited, in " .. vim.uri_to_fname(folder.uri))
  end
  if #vim.lsp.get_clients({ name = "graphtrap" }) > 1 then
    vim.health.warn("several servers run", "vim.lsp.enable() or nvim-lspconfig start one, too: set autostart = false, or remove that")
  end
end

function M.check()
  neovim()
  settings()
  server()
  session()
end

return M
