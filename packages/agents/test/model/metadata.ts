/** Responses to requests for models and accounts, which agents send besides completions; an empty object for others. */
export function metadata({ pathname }: URL): unknown {
  const id = 'fake-model'
  if (pathname.endsWith('/v1beta/models'))
    return {
      models: [
        {
          name: `models/${id}`,
          displayName: 'Fake model',
          inputTokenLimit: 100_000,
          outputTokenLimit: 4096,
          supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
        },
      ],
    }
  if (pathname.endsWith('/models'))
    return {
      object: 'list',
      data: [
        { id, object: 'model', type: 'model', display_name: 'Fake model', created: 0, owned_by: 'fake' },
      ],
      has_more: false,
      first_id: id,
      last_id: id,
    }
  // Cline requests this from its own service.
  if (pathname.endsWith('/users/me'))
    return {
      success: true,
      data: { id: 'usr_fake', email: 'nobody@example.com', displayName: 'Nobody', organizations: [] },
    }
  return {}
}
