/** The authenticated caller: the name of its token, and its access. */
export interface Caller {
  readonly name: string
  readonly access: 'full' | 'read'
}
