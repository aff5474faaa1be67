import type { FastifyRequest } from 'fastify';
import { ACCESS_HEADER } from '../../core/http/index.ts';

/** What the front of a private instance says of a request; undefined: the instance is open. */
export const accessHeaderOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  headers[ACCESS_HEADER]?.toString();
