import { problems } from '../../core/api/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';

/** Answers 404 ProblemDetails to every request without a route. Clients use it to detect missing newer endpoints. */
export const createNotFound = (options: HandlerOptions): Handler =>
  createHandler({ ...options, methods: [] }, async () => {
    throw problems.notFound();
  });
