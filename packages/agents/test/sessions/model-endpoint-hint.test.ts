import { VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { modelEndpointHint, withEndpointHint } from '../../src/sessions/model-endpoint-hint.ts'

it('names the field and the address of a model endpoint that failed, without its login and query', () => {
  const hint = modelEndpointHint({ url: 'http://ada:secret@127.0.0.1:9/gateway/?key=secret' })
  expect(hint).toContain('modelEndpoint.url: the model at http://127.0.0.1:9/gateway gave no usable answer.')
  expect(hint).toContain('Check that it listens')
  expect(hint).not.toContain('secret')
  expect(modelEndpointHint(undefined)).toBeUndefined()
})

it('adds the field to the error of an agent, and to no other error', () => {
  const endpoint = { url: 'http://127.0.0.1:9' }
  const failed = new VitrineError('agent_failed', 'fetch failed', { details: { stderr: 'x' } })
  expect(withEndpointHint(failed, endpoint)).toMatchObject({
    code: 'agent_failed',
    message: expect.stringMatching(/^fetch failed\nmodelEndpoint\.url: /),
    details: { stderr: 'x', path: 'modelEndpoint.url' },
  })
  expect(withEndpointHint(failed, undefined)).toBe(failed)
  const exited = new VitrineError('agent_exited', 'It exited.')
  expect(withEndpointHint(exited, endpoint)).toBe(exited)
})
