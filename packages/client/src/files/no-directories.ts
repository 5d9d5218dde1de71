import { VitrineError } from '@vitrine/protocol'

/** Browsers have no directories to read or write. */
async function refuse(): Promise<never> {
  throw new VitrineError(
    'unsupported',
    'Directories of this machine can be transferred in Node only; use files.upload and files.download with an archive.',
  )
}

export { refuse as downloadDirectory, refuse as uploadDirectory }
