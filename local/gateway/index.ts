export { answerProblem, clientOfRequest } from './exchange.ts';
export { createGateway, isStreamPath } from './gateway.ts';
export { createRequestLimit, type RequestLimit } from './limit-requests.ts';
export { basePathOf, createReadProxies, isIngress, LinkingResponse } from './proxies.ts';
export { reachableUrl } from './reachable-url.ts';
export { addBrackets, createAcceptRequest, isLoopback } from './request-authority.ts';
export { createRequireAccess } from './require-access.ts';
