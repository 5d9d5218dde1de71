import { VitrineError } from '../errors/vitrine-error.ts'

export const recordVersion = 1

type Fields = Readonly<Record<string, unknown>>

/** Brings a record of any earlier version to the current one. A record without a version is of version 0. */
export function migrateRecord(stored: unknown, defaults: object): Fields {
  if (!isFields(stored)) throw new VitrineError('argument_invalid', 'record: expected an object.')
  return stored.version === undefined ? fromVersion0(stored, defaults) : stored
}

/**
 * Version 0 held the options as the caller gave them: the host's defaults were merged in at each start. It knew neither
 * hooks nor skipped paths.
 */
function fromVersion0({ workspace, ...record }: Fields, defaults: object): Fields {
  const local = isFields(record.local) ? record.local : {}
  return {
    ...record,
    version: 1,
    local: { ...withoutDiskLimit(defaults), ...local },
    beforeStop: [],
    skipOnPersist: [],
    ...(workspace !== undefined && { workspace: withContents(workspace) }),
  }
}

/** Version 0 had no limit of disk space. With one, the files of a sandbox are in another folder. */
function withoutDiskLimit(defaults: object): object {
  const { limits, ...others }: Fields = { ...defaults }
  if (!isFields(limits)) return defaults
  const { diskBytes: _, ...lasting } = limits
  return { ...others, limits: lasting }
}

/** Version 0 stored a file with bytes and a mode as `{ base64, mode }`. */
function withContents(workspace: unknown): unknown {
  if (!isFields(workspace) || !isFields(workspace.files)) return workspace
  const files = Object.entries(workspace.files).map(([path, file]) => {
    if (!isFields(file) || file.base64 === undefined || file.mode === undefined) return [path, file]
    return [path, { content: { base64: file.base64 }, mode: file.mode }]
  })
  return { ...workspace, files: Object.fromEntries(files) }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
