export { LinkingResponse } from './proxies.ts';
export { type PrebuiltParts, startService } from './service.ts';
