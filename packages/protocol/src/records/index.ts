/** The record that a host stores of a sandbox: one versioned schema. */
export {
  parseSandboxRecord,
  type RecordedHook,
  recordSchemas,
  type SandboxRecord,
} from './sandbox-record.ts'
