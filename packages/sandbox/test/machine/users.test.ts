import { describe, expect, it } from 'vitest'
import { findUser, parseUsers, usersOfHost } from '../../src/machine/users.ts'

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'www-data:x:33:33:www:/var/www:/usr/sbin/nologin',
  '# a comment',
  '+::::::',
  'broken:x:abc:0::/:',
  'short:x:5',
  'huge:x:9999999999:1::/:',
  'homeless:x:77:78',
  '',
].join('\n')

describe('the users of a passwd file', () => {
  it('parses the valid lines of a passwd file', () => {
    expect(parseUsers(passwd)).toEqual([
      { name: 'root', uid: 0, gid: 0, home: '/root' },
      { name: 'www-data', uid: 33, gid: 33, home: '/var/www' },
      { name: 'homeless', uid: 77, gid: 78, home: '/' },
    ])
  })

  it.each([
    ['root', 0, 0],
    ['33', 33, 33],
    ['homeless', 77, 78],
    ['1234', 1_234, 1_234],
    ['65534', 65_534, 65_534],
  ])('finds the user %s', (wanted, uid, gid) => {
    expect(findUser(parseUsers(passwd), wanted)).toMatchObject({ uid, gid })
  })

  it.each(['nobody-here', '65535', '-1', '', '1e3', '0x10', 'root:x'])('finds no user %j', (wanted) => {
    expect(() => findUser(parseUsers(passwd), wanted)).toThrow(
      expect.objectContaining({ code: 'user_unknown' }),
    )
  })

  it('finds root among the users of the host', () => {
    expect(usersOfHost()).toContainEqual(expect.objectContaining({ name: 'root', uid: 0 }))
  })
})
