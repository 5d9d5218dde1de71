/**
 * Every error that a user can get: `code → HTTP status → retryable → what to do about it`.
 * `retryable: 'unknown'` means that the same call may or may not have had an effect.
 */
export const errorRegistry = {
  argument_invalid: entry(400, false, 'Correct the argument that the message names and call again.'),
  not_found: entry(404, false, 'Check the id; list what exists first.'),
  unsupported: entry(501, false, 'Look at `capabilities` before calling; this implementation cannot do it.'),
  cancelled: entry(499, 'unknown', 'The caller cancelled it. Look at the journal for how far it came.'),
  timeout: entry(504, 'unknown', 'Raise the time limit, or look at the journal for what it was doing.'),
  interrupted: entry(
    503,
    'unknown',
    'Its host ended before it did. Look at the journal, then start it again.',
  ),
  internal: entry(500, 'unknown', 'This is a defect of Vitrine: report it with the message and the journal.'),

  event_invalid: entry(
    422,
    false,
    'Correct the field that the message names. Nothing of the batch was written.',
  ),
  event_type_unknown: entry(
    422,
    false,
    'Use a type of the catalogue, or wrap events of other systems with `foreignEvent()`.',
  ),
  work_already_open: entry(409, false, 'Give each operation, process, turn and run its own id.'),
  work_not_open: entry(409, false, 'It has already ended or never started; an end is written once.'),
  cursor_invalid: entry(400, false, 'Use a cursor exactly as a page, an event or a heartbeat gave it.'),
  cursor_foreign: entry(
    409,
    false,
    'This cursor belongs to another journal or store: start without a cursor.',
  ),
  cursor_ahead: entry(
    409,
    false,
    'The store was restored from an older copy: read from the start and compare with your copy.',
  ),

  store_owned: entry(
    409,
    true,
    'Close the other host, open read-only, or pass `takeover: true` to fence off the other host.',
  ),
  store_fenced: entry(
    409,
    false,
    'Another host took over this store. Stop this host and open the store again.',
  ),
  store_closed: entry(409, false, 'Open the store again before using it.'),
  store_read_only: entry(409, false, 'Write through the host that owns the store.'),
  store_unavailable: entry(
    500,
    'unknown',
    'Check that the path exists, is a file and can be written by this user.',
  ),
  store_busy: entry(503, true, 'Another program holds a lock on the database file: end it or wait.'),
  store_corrupt: entry(
    500,
    false,
    'Move the file aside, keep it, and restore a copy; nothing was changed or reset.',
  ),
  secrets_unreadable: entry(
    500,
    false,
    'Put back the key and the file of encrypted values that the message names. If they are lost, open with `forgetUnreadableSecrets: true` (`--forget-unreadable-secrets`): earlier credentials are then not masked any more, so replace them.',
  ),
  store_foreign: entry(500, false, 'The file is not a Vitrine store: choose another path.'),
  store_newer: entry(500, false, 'A newer Vitrine wrote this store: upgrade, or choose another path.'),
  store_failing: entry(
    507,
    true,
    'The disk is full or failing: free space. Work continues automatically once a commit succeeds.',
  ),
  journal_overloaded: entry(429, true, 'Await `append` before appending more, or append less.'),
  journal_diverged: entry(
    409,
    false,
    'The imported events do not continue this journal: import into an empty one.',
  ),

  blob_not_found: entry(404, false, 'The blob was removed with its last event, or was never stored here.'),
  blob_mismatch: entry(502, true, 'Import again. If it happens again, the blob is damaged at its origin.'),
  blob_too_large: entry(413, false, 'Store a smaller part, or raise `blobs.maxBytes`.'),
  blob_limit: entry(507, true, 'Free blobs by trimming journals, or raise `blobs.maxTotalBytes`.'),
  range_invalid: entry(416, false, 'Ask for a range inside the blob.'),

  sink_exists: entry(409, false, 'Give each sink its own name, or close the first one.'),
  sink_unwritable: entry(
    500,
    true,
    'Check that the target exists and can be written; delivery is retried automatically.',
  ),
  sink_rejected: entry(502, true, 'Look at the response of the receiver; delivery is retried automatically.'),

  gate_refused: entry(403, false, 'The gate that the message names refused it: change the call or the gate.'),
  command_not_found: entry(
    422,
    false,
    'Check the spelling, install the program in the sandbox, or give its full path.',
  ),
  command_not_executable: entry(
    422,
    false,
    'Make it executable (`chmod +x`), or run it through its interpreter.',
  ),
  cwd_not_found: entry(422, false, 'Create the directory first, or leave `cwd` out to run in the workspace.'),
  cwd_outside: entry(422, false, 'Use a directory of the workspace, of HOME or of /tmp.'),
  user_unknown: entry(
    422,
    false,
    'Use a user of the sandbox; `capabilities.users` says whether it supports others.',
  ),
  environment_invalid: entry(422, false, 'Correct the variable that the message names.'),
  process_refused: entry(
    503,
    true,
    'The machine has no process or memory left: stop other processes, or raise the limit that the message names.',
  ),
  disk_limit: entry(
    507,
    true,
    'Delete files of the sandbox through `files`, or create it with a larger `local.limits.diskBytes`.',
  ),
  process_limit: entry(429, true, 'Stop or remove processes of this sandbox, or raise `limits.processes`.'),
  process_exited: entry(409, false, 'The process has exited: start it again.'),
  process_running: entry(409, false, 'Stop or kill the process first.'),
  input_closed: entry(409, false, 'Its input has ended or was never open: start it with input.'),
  input_too_large: entry(413, false, 'Send the input in smaller parts, or raise `limits.inputBytes`.'),
  terminal_required: entry(
    409,
    false,
    'Start the process with `tty` to resize it or to write to its terminal.',
  ),
  terminal_unavailable: entry(
    503,
    true,
    'The machine has no terminals left: close some, or raise `kernel.pty.max`.',
  ),
  reader_fell_behind: entry(
    409,
    true,
    'Start reading again. The journal has the missed events unless they were trimmed.',
  ),
  file_not_found: entry(404, false, 'Check the path; list its directory.'),
  file_exists: entry(409, false, 'Choose another path, or remove the existing file first.'),
  file_not_regular: entry(
    409,
    false,
    'Only regular files can be read and written; use a process for devices, FIFOs and sockets.',
  ),
  file_is_directory: entry(
    409,
    false,
    'Pass a file, or use a method for directories: list, download, remove.',
  ),
  file_not_directory: entry(409, false, 'A part of the path is a file: check the path.'),
  file_denied: entry(403, false, 'Its owner and mode forbid it: change them, or act as another `user`.'),
  file_read_only: entry(
    403,
    false,
    'Its path is granted read-only or its file system is read-only: use another path or a writable grant.',
  ),
  file_busy: entry(409, true, 'Another process uses it: stop that process and call again.'),
  file_failed: entry(
    500,
    'unknown',
    'The file system reported an error: look at the message and at the host.',
  ),
  directory_not_empty: entry(409, false, 'Pass `recursive: true` to remove its content as well.'),
  path_outside: entry(
    403,
    false,
    'Use a path in the workspace, or grant the other path: `grants: [{ path, writable }]`.',
  ),
  path_too_long: entry(422, false, 'Use a shorter name: 255 bytes for each part, 4,095 in all.'),
  link_loop: entry(422, false, 'The symlinks form a loop or a chain of more than 40: correct them.'),
  disk_full: entry(
    507,
    true,
    'Free space on the disk of the path that the message names and call again; nothing was changed.',
  ),
  files_open: entry(503, true, 'Read open streams to their end or cancel them, and call again.'),
  invalid_compression_scheme: entry(
    422,
    false,
    'Use tar, tar.gz, tar.zst or zip, as `scheme` or as the end of the name.',
  ),
  archive_invalid: entry(
    422,
    false,
    'The archive is truncated, damaged or in another format: create it again.',
  ),
  archive_refused: entry(
    422,
    false,
    'Remove the member that the message names from the archive; nothing was written.',
  ),
  archive_too_large: entry(
    413,
    false,
    'Split the archive, or raise the limit that the message names; nothing was written.',
  ),
  workspace_not_empty: entry(
    409,
    false,
    'A manifest prepares an empty workspace: use another root, or leave `workspace` out.',
  ),
  setup_failed: entry(
    422,
    false,
    'Correct the step that the message names and create the sandbox again; no files were left behind.',
  ),
  port_unavailable: entry(
    404,
    true,
    'Start the server that should listen there, and wait for it with `ports.waitFor`.',
  ),
  sandbox_not_running: entry(409, false, 'Call `lifecycle.start()` first.'),
  sandbox_paused: entry(409, false, 'Call `lifecycle.resume()` first.'),
  sandbox_destroyed: entry(410, false, 'The sandbox was removed permanently: create another.'),
  sandbox_start_failed: entry(
    500,
    'unknown',
    'The message says which step failed; the journal has the rest.',
  ),
  isolation_unavailable: entry(
    501,
    false,
    "Install what the message names, or choose `isolation: 'none'` knowing what it does not protect.",
  ),
  restriction_unavailable: entry(
    501,
    false,
    'Use a host that can enforce it, or attach with `allowDegraded`.',
  ),
  below_floor: entry(403, false, 'Leave out the option that the message names.'),
  attach_incomplete: entry(409, false, 'Give what the message names again to `attach`.'),
  secret_missing: entry(
    409,
    false,
    'Attach the sandbox with the values of the secrets that the message names: they are not stored for commands.',
  ),
  before_stop_failed: entry(
    409,
    false,
    'A hook failed, so the workspace was not persisted; its last persisted state is unchanged.',
  ),
  agent_unknown: entry(
    404,
    false,
    'Use a name that `listAgents()` returns, or open the host with that agent.',
  ),
  agent_not_installed: entry(
    424,
    false,
    'Install it with `installAgent(name)`, which needs network access, or follow the message.',
  ),
  agent_install_failed: entry(
    502,
    'unknown',
    'Look at the output in the message; no files were left behind. Try again, or install another version.',
  ),
  agent_exited: entry(
    502,
    'unknown',
    'The agent exited: look at its stderr in `details.stderr`. The next prompt starts it again.',
  ),
  agent_failed: entry(
    502,
    'unknown',
    'The agent responded with an error: look at `details` and at its credentials and model.',
  ),
  agent_protocol_error: entry(
    502,
    false,
    'The program does not speak the Agent Client Protocol as expected: look at its `agent.*` events.',
  ),
  agent_silent: entry(
    504,
    'unknown',
    'The agent sent no message in time: raise the limit, or look at what it waits for.',
  ),
  credentials_missing: entry(
    422,
    false,
    "Set one of the variables that the message names and pass `credentials: 'env'`, or pass the value itself.",
  ),
  session_not_found: entry(404, false, 'List the sessions of the sandbox first; ids are exact.'),
  session_exists: entry(409, false, 'Choose another id, or use `sessions.resumeOrCreate`.'),
  session_closed: entry(409, false, 'Open another session, or resume this one with `sessions.resume`.'),
  session_busy: entry(409, true, 'A turn is running: wait for it, cancel it, or queue prompts with `queue`.'),
  session_queue_full: entry(429, true, 'Too many prompts are queued: await them before sending more.'),
  record_exists: entry(
    409,
    false,
    'A record id belongs to one list of events: record these under another id, or without one.',
  ),
  turn_exists: entry(
    409,
    false,
    'A turn id belongs to one prompt of one session: send this prompt with another id, or without one.',
  ),
  permission_not_pending: entry(
    409,
    false,
    'It was already answered or never requested: look at its events.',
  ),
  question_not_pending: entry(409, false, 'It was already answered or never requested: look at its events.'),
  option_unknown: entry(422, false, 'Choose one of the values that the message lists.'),
  run_started: entry(409, false, 'Call `resume` or `turn` for further turns of the same run.'),
  run_not_started: entry(
    409,
    false,
    'Call `start` or `turn` first: the sandbox is created with the first turn.',
  ),
  run_busy: entry(409, true, 'A run has one turn at a time: await it, or abort it with its signal.'),
  run_closed: entry(
    409,
    false,
    'Open another run; `resumeFrom` continues a session whose sandbox still exists.',
  ),
  run_failed: entry(
    500,
    'unknown',
    'Look at `cause` for the error and at `events` for how far the turn came.',
  ),
  budget_exhausted: entry(429, false, 'Raise the limit of `budget` that the message names, or end the run.'),
  artifact_too_large: entry(413, false, 'Let the agent write less, or raise `maxArtifactBytes`.'),
  sandbox_exists: entry(409, false, 'Choose another id, or attach to the existing sandbox.'),
  provider_failed: entry(
    502,
    'unknown',
    'The provider that the message names failed: look at its error, then call again.',
  ),
  provider_missing: entry(
    409,
    false,
    'Open the host with the provider that the message names in `providers`.',
  ),
  sandbox_running: entry(409, false, 'Stop the sandbox, then attach again.'),
  record_damaged: entry(500, false, 'Repair the file that the message names, or move it away.'),
  sandbox_replaced: entry(
    410,
    false,
    'Another directory has replaced its workspace: create a new sandbox for that directory.',
  ),
  token_invalid: entry(
    401,
    false,
    'Send `Authorization: Bearer <token>`; `vitrine serve` prints the token and stores it in its data directory.',
  ),
  access_denied: entry(403, false, 'This token has read access only: use one with full access.'),
  host_refused: entry(
    421,
    false,
    'Use the address that the daemon listens on, or allow this name with `--allow-host`.',
  ),
  origin_refused: entry(403, false, 'Allow this origin with `--cors <origin>`.'),
  route_unknown: entry(404, false, 'Look at /openapi.json for the list of routes.'),
  method_unknown: entry(405, false, 'Look at the `allow` header, or at /openapi.json.'),
  request_invalid: entry(400, false, 'Correct the request line or the header that the message names.'),
  body_invalid: entry(400, false, 'Correct the body: the message names the field and the expected value.'),
  body_too_large: entry(413, false, 'Send a smaller body; files and archives can be streamed at any size.'),
  media_type_unsupported: entry(415, false, 'Send the `content-type` that the message names.'),
  too_many_connections: entry(503, true, 'Close unused streams, or raise the limit of the daemon.'),
  too_many_reads: entry(429, true, 'Await the responses to earlier reads before sending more.'),
  server_closing: entry(503, true, 'The daemon is shutting down: connect again with your last cursor.'),
  connection_failed: entry(
    503,
    'unknown',
    'Check that the daemon runs and is reachable; look at the journal for the outcome of the call.',
  ),
  host_closed: entry(409, false, 'Open the host again before using it.'),
  secret_too_short: entry(
    400,
    false,
    'Register secrets of 4 characters or more; shorter ones would mask ordinary text.',
  ),
  secret_limit: entry(
    507,
    true,
    'Destroy sandboxes that are not needed: their values are then forgotten. The same value under the same name is counted once.',
  ),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorRegistry

export type Retryable = boolean | 'unknown'

export interface ErrorEntry {
  readonly status: number
  readonly retryable: Retryable
  readonly hint: string
}

function entry<S extends number, R extends Retryable>(status: S, retryable: R, hint: string) {
  return { status, retryable, hint } as const
}

/** The registry's entry; a code that only a newer version knows gets that of `internal`. */
export function errorEntry(code: string): ErrorEntry {
  return isErrorCode(code) ? errorRegistry[code] : errorRegistry.internal
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorRegistry, code)
}
