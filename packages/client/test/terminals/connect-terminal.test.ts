import { ObserverErrors } from '@vitrine/protocol/primitives'
import { expect, it } from 'vitest'
import { HttpClient } from '../../src/http/http-client.ts'
import { connectTerminal } from '../../src/terminals/connect-terminal.ts'
import { terminalServer } from './terminal-server.ts'

async function newTerminal() {
  const server = await terminalServer()
  const wire = new HttpClient({ url: server.url, token: 'secret' }).at('sandboxes', 'sbx_1')
  const terminal = connectTerminal(wire, 'proc_1', new ObserverErrors({}))
  const shown: number[] = []
  const errors: string[] = []
  terminal.onData((data) => shown.push(...data))
  terminal.onError(({ code, message }) => errors.push(`${code}: ${message}`))
  await expect.poll(() => server.request?.url).toBe('/v1/sandboxes/sbx_1/processes/proc_1/terminal/ws')
  return { server, wire, terminal, shown, errors }
}

it('receives output and sends input', async () => {
  const { server, terminal, shown, errors } = await newTerminal()
  expect(server.request?.headers['sec-websocket-protocol']?.replaceAll(' ', '')).toBe(
    'vitrine,vitrine.token.secret',
  )
  server.say({ type: 'ready' })
  await terminal.ready
  terminal.send('ls\n')
  terminal.send(new Uint8Array([255]))
  terminal.resize(80, 24)
  server.say(new Uint8Array([1, 2]))
  await expect
    .poll(() => server.received)
    .toEqual([
      { type: 'input', data: 'ls\n' },
      { type: 'input', data: '/w==', encoding: 'base64' },
      { type: 'resize', cols: 80, rows: 24 },
    ])
  await expect.poll(() => shown).toEqual([1, 2])
  server.say({ type: 'error', code: 'argument_invalid', message: 'no such size' })
  await expect.poll(() => errors).toEqual(['argument_invalid: no such size'])
  terminal.close()
  await expect.poll(() => server.received.at(-1)).toEqual({ type: 'close' })
})

it('reports the exit, also to late listeners, and ignores a lost connection after it', async () => {
  const { server, terminal, errors } = await newTerminal()
  const exits: unknown[] = []
  terminal.onExit((exit) => exits.push(exit))
  server.say({ type: 'ready' })
  server.say({ type: 'exit', exitCode: 3, signal: null, outcome: 'failed' })
  await expect.poll(() => exits).toEqual([{ exitCode: 3, signal: null, outcome: 'failed' }])
  server.cut()
  await new Promise((resolve) => setTimeout(resolve, 50))
  terminal.onExit((exit) => exits.push(exit))
  expect(exits).toHaveLength(2)
  expect(errors).toEqual([])
})

it('reports a lost connection as an error', async () => {
  const { server, terminal, errors } = await newTerminal()
  server.cut()
  await expect(terminal.ready).rejects.toMatchObject({ code: 'connection_failed' })
  expect(errors).toHaveLength(1)
})

it('closes with its client', async () => {
  const { server, wire, terminal, errors } = await newTerminal()
  server.say({ type: 'ready' })
  await terminal.ready
  wire.close()
  await expect.poll(() => server.received).toEqual([{ type: 'close' }])
  expect(errors).toEqual([])
})
