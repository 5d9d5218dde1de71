export interface PortInfo {
  readonly port: number
  readonly address: string
  readonly process?: string
}

export interface PortAddress {
  readonly host: string
  readonly port: number
  readonly url: string
  /** The address is of the daemon's machine, which is not the caller's: use `preview` instead. */
  readonly otherMachine?: true
}

/** An address of a port for the caller. */
export interface PortPreview {
  /** Leads to the port from wherever the caller reaches the sandbox. Over HTTP it is a path of the daemon. */
  readonly url: string
  /** Over HTTP: the same with an origin of its own, for a browser on the daemon's machine. */
  readonly ownOriginUrl?: string
}

export interface Ports {
  list(): Promise<readonly PortInfo[]>
  /** The address on the machine of the sandbox's host. */
  resolve(port: number): Promise<PortAddress>
  /** An address that also works from another machine. Over HTTP it opens the port to everyone who knows the address. */
  preview(port: number): Promise<PortPreview>
  waitFor(
    port: number,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<PortAddress>
}
