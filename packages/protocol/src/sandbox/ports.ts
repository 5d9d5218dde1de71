export interface PortInfo {
  readonly port: number
  readonly address: string
  readonly process?: string
}

export interface PortAddress {
  readonly host: string
  readonly port: number
  readonly url: string
}

export interface Ports {
  list(): Promise<readonly PortInfo[]>
  resolve(port: number): Promise<PortAddress>
  waitFor(
    port: number,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<PortAddress>
}
