/// <reference types="node" />
import * as archives from '@vitrine/archives'
import {
  type DownloadDirectoryOptions,
  type Files,
  type Unpacked,
  type UploadDirectoryOptions,
  VitrineError,
} from '@vitrine/protocol'
import { checkOptions, fileOptions } from '@vitrine/protocol/options'
import type { ObserverErrors } from '@vitrine/protocol/primitives'

/** Packs a directory of this machine and uploads it. */
export async function uploadDirectory(
  files: Pick<Files, 'upload'>,
  directory: string,
  options: UploadDirectoryOptions,
  errors: ObserverErrors,
): Promise<Unpacked> {
  checkOptions('files.uploadDirectory', fileOptions.uploadDirectory, options)
  requireLinux()
  const { to = '.', onProgress, ...rest } = options
  return archives.uploadDirectory(
    (archive) => files.upload(to, archive, { ...rest, scheme: 'tar' }),
    directory,
    { onProgress: onProgress && errors.guard('files.onProgress', onProgress) },
  )
}

/** Downloads a directory and unpacks it on this machine. */
export async function downloadDirectory(
  files: Pick<Files, 'download'>,
  directory: string,
  options: DownloadDirectoryOptions,
  errors: ObserverErrors,
): Promise<Unpacked> {
  checkOptions('files.downloadDirectory', fileOptions.downloadDirectory, options)
  requireLinux()
  const { from = '.', onProgress, ...rest } = options
  return archives.downloadDirectory(() => files.download(from, rest), directory, {
    signal: rest.signal,
    onProgress: onProgress && errors.guard('files.onProgress', onProgress),
  })
}

/** Directories are opened through /proc, so that a swapped link cannot redirect the access. */
function requireLinux(): void {
  if (process.platform !== 'linux')
    throw new VitrineError(
      'unsupported',
      `Directories of this machine can be transferred on Linux only, not on ${process.platform}; use files.upload and files.download with a tar.`,
    )
}
