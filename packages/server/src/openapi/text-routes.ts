const problem = { $ref: '#/components/responses/Problem' }

/** The routes that are not in the route table: the server answers them directly. */
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
  '/healthz': {
    get: {
      operationId: 'readHealthz',
      summary: 'Says without a token that the daemon is alive.',
      security: [],
      responses: {
        200: {
          description: 'The daemon is alive.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['status'],
                properties: { status: { type: 'string', const: 'ok' } },
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
      summary: 'Metrics of the daemon in the text format of Prometheus.',
      'x-access': 'read',
      responses: {
        200: { description: 'Done.', content: { 'text/plain': { schema: { type: 'string' } } } },
        default: problem,
      },
    },
  },
}
