export { createGateway } from './gateway.ts';
export { createAcceptRequest } from './request-authority.ts';
export { createRequireAccess } from './require-access.ts';
