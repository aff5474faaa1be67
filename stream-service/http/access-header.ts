import type { FastifyRequest } from 'fastify';
import { ACCESS_HEADER } from '../../core/http/index.ts';

/** The header that the front of a private instance sets on a request; undefined: the instance is open. */
export const accessHeaderOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  headers[ACCESS_HEADER]?.toString();
