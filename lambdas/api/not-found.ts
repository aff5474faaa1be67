import { problems } from '../../core/api/index.ts';
import { type ChainOptions, chain, type Handler } from '../middleware/index.ts';

/** Whatever no other route takes: 404 ProblemDetails. Clients probe for newer endpoints and fall back on it. */
export const createNotFound = (options: Omit<ChainOptions, 'methods'>): Handler =>
  chain({ ...options, methods: [] }, async () => {
    throw problems.notFound();
  });
