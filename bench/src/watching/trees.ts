import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Paths of files spread over two levels of folders. */
export function pathsOf(files: number, folders: number, name: (index: number) => string = plain): string[] {
  return Array.from({ length: files }, (_, index) => {
    const folder = index % folders
    return join(`part-${folder % 10}`, `folder-${folder}`, name(index))
  })
}

function plain(index: number): string {
  return `file-${index}.txt`
}

export function createFiles(root: string, paths: readonly string[], text = 'as it was\n'): void {
  for (const folder of new Set(paths.map((path) => dirname(path))))
    mkdirSync(join(root, folder), { recursive: true })
  for (const path of paths) writeFileSync(join(root, path), text)
}
