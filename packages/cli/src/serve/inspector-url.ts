/** The page with the token in the fragment, which no server is sent. */
export function inspectorUrl({ url, token }: { readonly url: string; readonly token?: string }): string {
  return token === undefined ? `${url}/ui/` : `${url}/ui/#token=${encodeURIComponent(token)}`
}
