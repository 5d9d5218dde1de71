import { type ExecOptions, type ExecResult, isVitrineError, VitrineError } from '@vitrine/protocol'
import { CommandFailure } from './command-failure.ts'
import type { Credentials, PlannedRepository } from './read-repository.ts'
import { type Exec, runCommand } from './run-command.ts'

/** Answers with what is in the environment, so that git has it from nowhere else. */
const helper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$VITRINE_GIT_USERNAME" "$VITRINE_GIT_TOKEN"; }; f'

type Environment = Readonly<Record<string, string>>

/** Brings a repository into the workspace with the sandbox's own git. `around` is what every command gets. */
export async function clone(
  exec: Exec,
  { url, ref, depth, credentials, path }: PlannedRepository & { readonly path: string },
  around: Environment,
  signal: AbortSignal,
): Promise<void> {
  const quiet = { GIT_TERMINAL_PROMPT: '0' }
  const git = (args: readonly string[], options: Omit<ExecOptions, 'signal'> = {}) =>
    ran(credentials, runCommand(exec, ['git', ...args], { env: quiet, ...options, signal }))
  const reaching = { env: { ...quiet, ...environmentOf(credentials, around) } }
  const shallow = depth === undefined ? [] : ['--depth', String(depth)]
  if (ref?.kind !== 'commit') {
    const branch = ref === undefined ? [] : ['--branch', ref.text]
    await git(['clone', ...shallow, ...branch, '--', url, path], reaching)
    return
  }
  // A clone takes names only; a commit is fetched.
  const cwd = path
  await git(['init', '--quiet', '--', path])
  await git(['remote', 'add', 'origin', url], { cwd })
  const wanted = depth === undefined ? [] : [ref.text]
  await git(['fetch', '--quiet', ...shallow, 'origin', ...wanted], { ...reaching, cwd })
  await git(['checkout', '--quiet', '--detach', ref.text], { cwd })
}

/** Only for that server, whatever it redirects to, and in place of every helper that might keep them. */
function environmentOf(credentials: Credentials | undefined, around: Environment): Environment {
  if (credentials === undefined) return {}
  const settings = [
    ['credential.helper', ''],
    [`credential.${credentials.origin}.helper`, helper],
  ] as const
  // After the settings that are given this way already.
  const first = Math.max(0, Number.parseInt(around.GIT_CONFIG_COUNT ?? '0', 10) || 0)
  return {
    GIT_CONFIG_COUNT: String(first + settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${first + at}`, key],
        [`GIT_CONFIG_VALUE_${first + at}`, value],
      ]),
    ),
    VITRINE_GIT_USERNAME: credentials.username,
    VITRINE_GIT_TOKEN: credentials.token,
  }
}

async function ran(credentials: Credentials | undefined, run: Promise<ExecResult>): Promise<void> {
  try {
    await run
  } catch (error) {
    if (isVitrineError(error) && error.code === 'command_not_found')
      throw new VitrineError('command_not_found', 'git is not installed in the sandbox.', { cause: error })
    if (!(error instanceof CommandFailure) || credentials === undefined) throw error
    throw new CommandFailure(without(credentials, error.result))
  }
}

/** A server may say what it was sent, and that would be in the error. */
function without({ token, username }: Credentials, result: ExecResult): ExecResult {
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  const masked = (text: string) =>
    [token, encodeURIComponent(token), basic].reduce(
      (rest, form) => rest.replaceAll(form, '[redacted]'),
      text,
    )
  return { ...result, stdout: masked(result.stdout), stderr: masked(result.stderr) }
}
