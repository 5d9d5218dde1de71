/**
 * The code of an error from Node or the operating system, such as `ENOENT` or `ERR_OUT_OF_RANGE`. Not for a `VitrineError`,
 * whose code has another form.
 */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
