import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '../packages/server/src/openapi/document.ts'
import { root } from './tools.ts'

const server = join(root, 'packages', 'server')

/** The OpenAPI document generated from the current routes. */
export function freshOpenApi(): string {
  const { version } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8'))
  return `${JSON.stringify(openApiDocument(version))}\n`
}

/** The document that a daemon serves. */
export const openApiFile = join(server, 'openapi.json')

export function writeOpenApi(): void {
  writeFileSync(openApiFile, freshOpenApi())
}
