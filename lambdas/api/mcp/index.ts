export { createMcp, type McpOptions } from './mcp.ts';
