/** Safe tar and zip, in and out, on directory handles. */
export {} from '@vitrine/protocol/require-node'

export { applyDirectoryAttributes } from './attributes.ts'
export { type ArchiveInput, byteSourceOf, fileByteSource } from './byte-source.ts'
export { AccessRoots, checkPath, type RootMount } from './directories/access-roots.ts'
export { fileError, sourceFailed } from './directories/errors.ts'
export { toBytes } from './directories/exact-text.ts'
export { Handle, isMissing, kindOf } from './directories/handle.ts'
export { type FileIdentity, may, must, mustChange } from './directories/identity.ts'
export { removeFolder } from './directories/remove-folder.ts'
export { removeTree } from './directories/remove-tree.ts'
export { type ResolvedPath, walk } from './directories/walk.ts'
export { ArchiveTally, defaultLimits } from './limits.ts'
export { merge } from './merge.ts'
export { move } from './move.ts'
export { pack } from './pack.ts'
export { packSource } from './pack-source.ts'
export { refusal } from './refusal.ts'
export { replaceContents } from './replace-contents.ts'
export { checkScheme, schemeOfName, type TarScheme } from './scheme.ts'
export { bufferedReader } from './streams/buffered-reader.ts'
export {
  type ClosingOptions,
  closingStream,
  type StreamEnd,
  type StreamSource,
} from './streams/closing-stream.ts'
export { cancelled, TimeSlice } from './time-slice.ts'
export { downloadDirectory } from './transfer/download-directory.ts'
export { uploadDirectory } from './transfer/upload-directory.ts'
export { type UnpackOptions, unpack } from './unpack.ts'
export { maxLeftOut } from './unpacking.ts'
