const problem = { $ref: '#/components/responses/Problem' }

/** The routes that have no handler in the table: both are texts. */
export const textRoutes = {
  '/openapi.json': {
    get: {
      operationId: 'readOpenApi',
      summary: 'This document.',
      'x-access': 'read',
      responses: {
        200: {
          description: 'Done.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['openapi'],
                properties: { openapi: { type: 'string', const: '3.1.0' } },
              },
            },
          },
        },
        default: problem,
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'readMetrics',
      summary: 'What the daemon counts, in the text format of Prometheus.',
      'x-access': 'read',
      responses: {
        200: { description: 'Done.', content: { 'text/plain': { schema: { type: 'string' } } } },
        default: problem,
      },
    },
  },
}
