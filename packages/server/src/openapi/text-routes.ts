const problem = { $ref: '#/components/responses/Problem' }

/** The two routes that are not in the route table; the router serves their texts directly. */
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
      summary: 'Metrics of the daemon in the text format of Prometheus.',
      'x-access': 'read',
      responses: {
        200: { description: 'Done.', content: { 'text/plain': { schema: { type: 'string' } } } },
        default: problem,
      },
    },
  },
}
