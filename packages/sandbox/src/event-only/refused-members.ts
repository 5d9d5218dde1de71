import type { Files, Ports } from '@vitrine/protocol'
import { refusing, refusingStream } from './refusal.ts'

export const refusedFiles: Files = {
  read: refusing('files.read'),
  write: refusing('files.write'),
  list: refusing('files.list'),
  stat: refusing('files.stat'),
  exists: refusing('files.exists'),
  mkdir: refusing('files.mkdir'),
  move: refusing('files.move'),
  remove: refusing('files.remove'),
  chmod: refusing('files.chmod'),
  search: refusing('files.search'),
  watch: refusingStream('files.watch'),
  flush: refusing('files.flush'),
  upload: refusing('files.upload'),
  download: refusing('files.download'),
  uploadDirectory: refusing('files.uploadDirectory'),
  downloadDirectory: refusing('files.downloadDirectory'),
  extract: refusing('files.extract'),
}

export const refusedPorts: Ports = {
  list: refusing('ports.list'),
  resolve: refusing('ports.resolve'),
  preview: refusing('ports.preview'),
  waitFor: refusing('ports.waitFor'),
}
