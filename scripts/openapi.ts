import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '../packages/server/src/openapi/document.ts'
import { root } from './tools.ts'

const server = join(root, 'packages', 'server')

/** The document as it follows from the routes now. */
export function freshOpenApi(): string {
  const { version } = JSON.parse(readFileSync(join(server, 'package.json'), 'utf8'))
  return `${JSON.stringify(openApiDocument(version))}\n`
}

/** The one that a daemon answers with. */
export const openApiFile = join(server, 'openapi.json')

export function writeOpenApi(): void {
  writeFileSync(openApiFile, freshOpenApi())
}
