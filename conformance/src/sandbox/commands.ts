/** Quotes a text as one shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A shell command that serves a fixed body on a port until it is killed. Uses node, or python3 where there is none. */
export function server(port: number, body: string, host = '127.0.0.1'): string {
  const node = `require('node:http').createServer((_, a) => a.end(${JSON.stringify(body)})).listen(${port}, ${JSON.stringify(host)})`
  const family = host.includes(':') ? 'AF_INET6' : 'AF_INET'
  const python = [
    'import http.server, socket, socketserver',
    'class H(http.server.BaseHTTPRequestHandler):',
    '  def do_GET(self):',
    `    b = ${JSON.stringify(body)}.encode(); self.send_response(200); self.send_header("Content-Length", str(len(b))); self.end_headers(); self.wfile.write(b)`,
    '  def log_message(self, *a): pass',
    `socketserver.TCPServer.address_family = socket.${family}`,
    'socketserver.TCPServer.allow_reuse_address = True',
    `socketserver.TCPServer((${JSON.stringify(host)}, ${port}), H).serve_forever()`,
  ].join('\n')
  return `if command -v node >/dev/null; then exec node -e ${quoted(node)}; else exec python3 -c ${quoted(python)}; fi`
}

/** A shell command that fetches from a server in the sandbox and retries until the server listens. */
export function request(port: number): string {
  // Not `--retry`, which waits for at least a second.
  const once = `curl --silent --max-time 5 --noproxy '*' http://127.0.0.1:${port}/`
  return `for try in $(seq 600); do ${once} && break; sleep 0.05; done`
}

/** A shell command that appends a line to a file until it is killed or the file's folder is removed. */
export function counting(file: string): string {
  return `while echo x >> ${quoted(file)}; do sleep 0.02; done`
}
