import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { typeComplaints } from '../../scripts/document-types.ts'
import { codeBlocks } from './code-blocks.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

it('the examples of the README pass the strict type check of the repository', () => {
  const blocks = codeBlocks(root, 'README.md')
  expect(blocks).toHaveLength(3)
  expect(typeComplaints([blocks])).toEqual([])
})
