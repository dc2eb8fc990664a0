-- The one server of this Neovim, and what is asked of it. All logs share it, wherever they lie.

local config = require("graphtrap.config")
local program = require("graphtrap.program")

local M = {}

--- What waits for the server to be ready.
---@type fun(client: vim.lsp.Client)[]
local waiting = {}

--- The request in flight that |:GraphTrap-cancel| ends.
---@type integer?
local running

---@return vim.lsp.Client?
function M.current()
  for _, client in ipairs(vim.lsp.get_clients({ name = "graphtrap" })) do
    if not client.is_stopped(client) then
      return client
    end
  end
end

--- The namespace of the diagnostics that the server publishes.
---@param client vim.lsp.Client
---@return integer
function M.namespace(client)
  return vim.lsp.diagnostic.get_namespace(client.id)
end

---@return lsp.ClientCapabilities
local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  -- Neovim 0.10 checks the version of an edit but does not say so, and gets no edits of source code without it.
  all.workspace.workspaceEdit.documentChanges = true
  -- Marks are sent when they are there. Asked for, they would be asked for again at every change of a growing log.
  all.textDocument.diagnostic = nil
  return all
end

--- What the server's lenses and actions leave to the editor.
---@type table<string, fun(command: lsp.Command)>
local commands = {
  ["graphtrap.copyText"] = function(command)
    require("graphtrap.verify").copy(command.arguments[1])
  end,
  ["graphtrap.openReport"] = function()
    vim.cmd("GraphTrap report")
  end,
}

---@return vim.lsp.ClientConfig
local function client_config()
  local user = config.get()
  return {
    name = "graphtrap",
    cmd = user.cmd,
    -- An empty table of Lua would be sent as a list.
    settings = { graphtrap = next(user.settings) and user.settings or vim.empty_dict() },
    capabilities = capabilities(),
    commands = commands,
    -- A fix is made for the source as it is in the buffer, so the server must know it before it is asked.
    flags = { debounce_text_changes = 0 },
    get_language_id = function(_, filetype)
      return filetype == "python" and "python" or "log"
    end,
    handlers = { ["workspace/applyEdit"] = require("graphtrap.fix").on_apply },
    on_init = function(client)
      -- Neovim attaches the buffers after this.
      vim.schedule(function()
        require("graphtrap.marks").take_over(M.namespace(client))
        require("graphtrap.attach").sources(client)
        local ready = waiting
        waiting = {}
        for _, call in ipairs(ready) do
          call(client)
        end
      end)
    end,
    on_exit = function(code, signal)
      waiting, running = {}, nil
      if code ~= 0 and signal ~= 15 then
        vim.schedule(function()
          vim.notify(("graphtrap: the server ended with %d; :LspLog has its last words"):format(code), vim.log.levels.ERROR)
        end)
      end
    end,
  }
end

--- A workspace folder as the protocol has it.
local function workspace_folder(dir)
  return { uri = vim.uri_from_fname(dir), name = vim.fs.basename(dir) }
end

--- Makes a folder known to the server: sources are found, and edited, in its folders only.
---@param client vim.lsp.Client
---@param dir string
local function add_folder(client, dir)
  for _, folder in ipairs(client.workspace_folders or {}) do
    local known = vim.uri_to_fname(folder.uri)
    if dir == known or vim.startswith(dir, (known:gsub("/*$", "/"))) then
      return
    end
  end
  local folder = workspace_folder(dir)
  client.workspace_folders = vim.list_extend(client.workspace_folders or {}, { folder })
  local tell = function(ready)
    M.notify(ready, "workspace/didChangeWorkspaceFolders", { event = { added = { folder }, removed = {} } })
  end
  if client.initialized then
    tell(client)
  else
    table.insert(waiting, 1, tell)
  end
end

-- Both spellings exist: with a dot up to Neovim 0.10, with a colon from 0.11 on.
local methods = vim.fn.has("nvim-0.11") == 1

---@param client vim.lsp.Client
function M.notify(client, method, params)
  if methods then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

--- Starts the server, or takes the one that runs. With a buffer it is attached to that; `dir` is its workspace folder.
---@param buf integer?
---@param dir string?
---@return vim.lsp.Client? client, string? trouble
function M.start(buf, dir)
  local client = M.current() or vim.lsp.get_clients({ name = "graphtrap", _uninitialized = true })[1]
  if not client then
    local path, trouble = program.find()
    if not path then
      return nil, trouble
    end
    local start = client_config()
    start.root_dir = dir or vim.fn.getcwd()
    -- Where the user works counts, too: logs often lie elsewhere than the sources.
    start.workspace_folders = { workspace_folder(start.root_dir) }
    if start.root_dir ~= vim.fn.getcwd() then
      table.insert(start.workspace_folders, workspace_folder(vim.fn.getcwd()))
    end
    local id
    if methods then
      id = vim.lsp.start(start, { attach = false })
    else
      id = vim.lsp.start_client(start)
    end
    client = id and vim.lsp.get_client_by_id(id)
    if not client then
      return nil, ("%s does not start; :checkhealth graphtrap says more"):format(path)
    end
  elseif dir then
    add_folder(client, dir)
  end
  if buf then
    vim.lsp.buf_attach_client(buf, client.id)
  end
  return client
end

--- Has a command of the server run. `done` is called with its result; an error is told to the user.
---@param command string
---@param argument table
---@param buf integer? the buffer that it is about, which must be attached
---@param done fun(result: any)
function M.execute(command, argument, buf, done)
  local client, trouble = M.start()
  if not client then
    return vim.notify("graphtrap: " .. trouble, vim.log.levels.ERROR)
  end
  local ask = function(ready)
    local params = { command = command, arguments = { argument } }
    -- With a token the server tells how far it is; see statusline.lua.
    params.workDoneToken = "graphtrap-" .. vim.uv.hrtime()
    local answer = function(err, result)
      running = nil
      if err and err.code ~= vim.lsp.protocol.ErrorCodes.RequestCancelled then
        return vim.notify("graphtrap: " .. err.message, vim.log.levels.ERROR)
      end
      if not err then
        done(result)
      end
    end
    local sent, id
    if methods then
      sent, id = ready:request("workspace/executeCommand", params, answer, buf)
    else
      sent, id = ready.request("workspace/executeCommand", params, answer, buf)
    end
    running = sent and id or nil
  end
  if client.initialized then
    ask(client)
  else
    table.insert(waiting, ask)
  end
end

--- Ends the request in flight. Returns false if there is none.
---@return boolean
function M.cancel()
  local client = M.current()
  if not client or not running then
    return false
  end
  if methods then
    client:cancel_request(running)
  else
    client.cancel_request(running)
  end
  running = nil
  return true
end

return M
