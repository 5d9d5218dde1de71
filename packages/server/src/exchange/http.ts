/** Imported as a module it brings the whole of `fetch` and `WebSocket` with it, which is half of the time to start. */
export const http = process.getBuiltinModule('node:http')
