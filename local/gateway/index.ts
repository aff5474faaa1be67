export { createGateway } from './gateway.ts';
