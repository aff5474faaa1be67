import { problems } from '../../core/api/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';

/** Whatever no other route takes: 404 ProblemDetails. Clients probe for newer endpoints and fall back on it. */
export const createNotFound = (options: Omit<HandlerOptions, 'methods'>): Handler =>
  createHandler({ ...options, methods: [] }, async () => {
    throw problems.notFound();
  });
