export { createDynamoDbStorage } from './dynamodb-storage.ts';
export { createTableClient } from './table-client.ts';
