import { resolve } from 'node:path';

/**
 * The variables of this machine for programs of the repository that tests start, and what Node has compiled of their
 * modules, as under `npm start`: without it each start takes seconds.
 */
export const NODE_ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? resolve(import.meta.dirname, '../../node_modules/.cache/node'),
};
