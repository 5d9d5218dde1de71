import { expect, it } from 'vitest'
import { SessionOwners } from '../../src/sessions/session-owners.ts'

const owner = (name: string, busy = false) => ({ name, info: { busy } })
type Owner = ReturnType<typeof owner>

it('finds the owner of a session and of a child session', () => {
  const owners = new SessionOwners<Owner>()
  const [idle, busy] = [owner('idle'), owner('busy', true)]
  owners.set('a', idle)
  owners.set('b', busy)
  expect(owners.of('a', 'request', undefined)).toBe(idle)
  expect(owners.of('child', 'request', undefined)).toBe(busy)
  expect(owners.of(undefined, 'request', undefined)).toBeUndefined()
})

it('finds no owner for closed sessions and their children', () => {
  const owners = new SessionOwners<Owner>()
  const [first, second] = [owner('first', true), owner('second')]
  owners.set('a', first)
  owners.set('b', second)
  expect(owners.of('a.child', 'notification', undefined)).toBe(first)
  owners.forget(first)
  expect(owners.of('a', 'request', undefined)).toBeUndefined()
  expect(owners.of('a.child', 'request', undefined)).toBeUndefined()
  expect(owners.of('a', 'request', second)).toBeUndefined()
  owners.set('a', second)
  expect(owners.of('a', 'request', undefined)).toBe(second)
})

it('assigns a request with an unknown id to the session with a running turn, not to the one being opened', () => {
  const owners = new SessionOwners<Owner>()
  const [busy, opening] = [owner('busy', true), owner('opening')]
  owners.set('a', busy)
  expect(owners.of('unknown', 'request', opening)).toBe(busy)
  expect(owners.of('unknown', 'notification', opening)).toBe(opening)
  owners.set('b', owner('busy too', true))
  expect(owners.of('unknown', 'request', opening)).toBe(opening)
})
