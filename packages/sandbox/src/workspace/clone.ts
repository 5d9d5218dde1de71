import { type ExecOptions, type ExecResult, isVitrineError, VitrineError } from '@vitrine/protocol'
import { CommandFailure } from './command-failure.ts'
import { type CloneNetwork, explainClone, isLocalRepository } from './explain-clone.ts'
import type { GitCredentials, PlannedRepository } from './read-repository.ts'
import { type Exec, runCommand } from './run-command.ts'

/** A git credential helper that returns the credentials from the environment, so that they are stored nowhere else. */
const credentialHelper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$VITRINE_GIT_USERNAME" "$VITRINE_GIT_TOKEN"; }; f'

type Environment = Readonly<Record<string, string>>

export interface CloneContext {
  /** The environment of every command. */
  readonly env: Environment
  readonly network: CloneNetwork
}

/** Git reads a page of HTML as the list of an empty repository; a git server sends packets of its protocol. */
const noGitServer =
  'url: the server at this address answers, but not as a git server; check that the address is not that of a page.'

/** A bound repository belongs to another user than the sandbox's. Git reads it in a process of its own. */
const trustingUploadPack = ['--upload-pack', "git -c 'safe.directory=*' upload-pack"]

/** Clones a repository into the workspace with the sandbox's own git. */
export async function clone(
  exec: Exec,
  { url, ref, depth, credentials, path }: PlannedRepository & { readonly path: string },
  { env: baseEnv, network }: CloneContext,
  signal: AbortSignal,
): Promise<void> {
  const quiet = { GIT_TERMINAL_PROMPT: '0' }
  const git = (args: readonly string[], options: Omit<ExecOptions, 'signal'> = {}) =>
    reportFailure(
      { url, credentials, network },
      runCommand(exec, ['git', ...args], { env: quiet, ...options, signal }),
    )
  const isLocal = isLocalRepository(url)
  const given = credentials && {
    VITRINE_GIT_USERNAME: credentials.username,
    VITRINE_GIT_TOKEN: credentials.token,
  }
  const remoteOptions = {
    env: { ...quiet, ...environmentOf(settingsOf(credentials, isLocal), baseEnv), ...given },
  }
  const trusting = isLocal ? trustingUploadPack : []
  const shallow = depth === undefined ? [] : ['--depth', String(depth)]
  if (ref?.kind !== 'commit') {
    const branch = ref === undefined ? [] : ['--branch', ref.text]
    const cloned = await git(['clone', ...trusting, ...shallow, ...branch, '--', url, path], remoteOptions)
    if (!/^https?:/.test(url) || !cloned.stderr.includes('cloned an empty repository')) return
    const env = { ...remoteOptions.env, GIT_TRACE_PACKET: '1' }
    const { stderr } = await git(['ls-remote', '--', url], { env })
    if (!stderr.includes('packet:')) throw new CommandFailure(cloned, noGitServer)
    return
  }
  // `git clone` accepts branches and tags only, so a commit is fetched.
  const cwd = path
  await git(['init', '--quiet', '--', path])
  await git(['remote', 'add', 'origin', url], { cwd })
  const wanted = depth === undefined ? [] : [ref.text]
  await git(['fetch', '--quiet', ...trusting, ...shallow, 'origin', ...wanted], { ...remoteOptions, cwd })
  await git(['checkout', '--quiet', '--detach', ref.text], { cwd })
}

/**
 * Configures the credentials for their origin only, so that a redirect target does not get them, and disables every
 * other credential helper, which might store them. A local repository is trusted whoever owns it.
 */
function settingsOf(
  credentials: GitCredentials | undefined,
  isLocal: boolean,
): [key: string, value: string][] {
  if (credentials === undefined) return isLocal ? [['safe.directory', '*']] : []
  return [
    ['credential.helper', ''],
    [`credential.${credentials.origin}.helper`, credentialHelper],
  ]
}

function environmentOf(
  settings: readonly (readonly [key: string, value: string])[],
  baseEnv: Environment,
): Environment {
  if (settings.length === 0) return {}
  // Append after settings that are already passed through GIT_CONFIG_COUNT.
  const first = Math.max(0, Number.parseInt(baseEnv.GIT_CONFIG_COUNT ?? '0', 10) || 0)
  return {
    GIT_CONFIG_COUNT: String(first + settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${first + at}`, key],
        [`GIT_CONFIG_VALUE_${first + at}`, value],
      ]),
    ),
  }
}

async function reportFailure(
  {
    url,
    credentials,
    network,
  }: Pick<PlannedRepository, 'url' | 'credentials'> & Pick<CloneContext, 'network'>,
  run: Promise<ExecResult>,
): Promise<ExecResult> {
  try {
    return await run
  } catch (error) {
    if (isVitrineError(error) && error.code === 'command_not_found')
      throw new VitrineError('command_not_found', 'git is not installed in the sandbox.', { cause: error })
    if (!(error instanceof CommandFailure)) throw error
    const { result } = error
    const shown = credentials === undefined ? result : maskCredentials(credentials, result)
    throw new CommandFailure(shown, explainClone(url, network, shown.stderr))
  }
}

/** Masks the credentials in git's output: a server may echo them, and the output becomes part of the error. */
function maskCredentials({ token, username }: GitCredentials, result: ExecResult): ExecResult {
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  const masked = (text: string) =>
    [token, encodeURIComponent(token), basic].reduce(
      (rest, form) => rest.replaceAll(form, '[redacted]'),
      text,
    )
  return { ...result, stdout: masked(result.stdout), stderr: masked(result.stderr) }
}
