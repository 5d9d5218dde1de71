import { parseUsers } from '../users.ts'

export const sandboxUser = { name: 'sandbox', uid: 1_000, gid: 1_000 } as const

/** The host's accounts, with the sandbox's user in place of any account with the same name or number. */
export function passwdFile(host: string, home: string): string {
  const others = lines(host).filter((line) => !parseUsers(line).some(clashes))
  const { name, uid, gid } = sandboxUser
  return file([...others, `${name}:x:${uid}:${gid}::${home}:/bin/sh`])
}

export function groupFile(host: string): string {
  const others = lines(host).filter((line) => {
    const [name, , gid] = line.split(':')
    return name !== sandboxUser.name && gid !== String(sandboxUser.gid)
  })
  return file([...others, `${sandboxUser.name}:x:${sandboxUser.gid}:`])
}

/** A `shadow` file with every password disabled. */
export function shadowFile(passwd: string): string {
  return file(parseUsers(passwd).map(({ name }) => `${name}:*:20000:0:99999:7:::`))
}

function clashes({ name, uid }: { name: string; uid: number }): boolean {
  return name === sandboxUser.name || uid === sandboxUser.uid
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function file(rows: readonly string[]): string {
  return `${rows.join('\n')}\n`
}
