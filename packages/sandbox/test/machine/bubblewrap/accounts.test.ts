import { describe, expect, it } from 'vitest'
import { groupFile, passwdFile, shadowFile } from '../../../src/machine/bubblewrap/accounts.ts'

const passwd = 'root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/zsh\nsandbox:x:7:7::/x:/x\n'
const own = 'sandbox:x:1000:1000::/home/sandbox:/bin/sh'

describe('the accounts of a sandbox', () => {
  it("replaces a host account that has the name or the number of the sandbox's user", () => {
    expect(passwdFile(passwd, '/home/sandbox')).toBe(`root:x:0:0:root:/root:/bin/bash\n${own}\n`)
  })

  it.each([
    ['empty', ''],
    ['only empty lines', '\n\n'],
  ])("contains the sandbox's user when the host's file is %s", (_name, host) => {
    expect(passwdFile(host, '/home/sandbox')).toBe(`${own}\n`)
    expect(groupFile(host)).toBe('sandbox:x:1000:\n')
  })

  it("replaces a host group that has the name or the number of the sandbox's group", () => {
    const host = 'root:x:0:\nme:x:1000:me\nsandbox:x:5:me\ndocker:x:999:me,you'
    expect(groupFile(host)).toBe('root:x:0:\ndocker:x:999:me,you\nsandbox:x:1000:\n')
  })

  it('disables every password', () => {
    expect(shadowFile(passwdFile(passwd, '/home/sandbox'))).toBe(
      'root:*:20000:0:99999:7:::\nsandbox:*:20000:0:99999:7:::\n',
    )
  })

  it('keeps lines that are not accounts', () => {
    expect(passwdFile('# note\n+@nis::::::\n', '/h')).toBe(
      '# note\n+@nis::::::\nsandbox:x:1000:1000::/h:/bin/sh\n',
    )
  })
})
