export { Client, type ClientOptions, type ConnectOptions, connect } from "./client.js";
export { Consumer, type ConsumerOptions, Delivery } from "./consumer.js";
export { fromDrizzle, fromKnex, type Queryable, type Transactional } from "./database.js";
export { ClaimLost, Code, HandlerTimeout, Reject, RetryAfter, WeirError, WorkerStopped } from "./errors.js";
export type { HttpOptions } from "./http.js";
export { Producer } from "./producer.js";
export type { RetryOptions } from "./retry.js";
export type {
  AckOptions,
  Binding,
  ClaimedMessage,
  ConfigureGroupOptions,
  ConfigureQueueOptions,
  CreateGroupOptions,
  DeadLetter,
  DeadLettersOptions,
  DeadOptions,
  Finding,
  Group,
  GroupOptions,
  GroupStats,
  Headers,
  Id,
  Message,
  MessageState,
  NackOptions,
  Outgoing,
  Published,
  PublishOptions,
  Queue,
  QueueMap,
  QueueOptions,
  ReceiveOptions,
  RejectOptions,
  SendBatchOptions,
  SendOptions,
  StoredMessage,
  TakeOptions,
} from "./types.js";
export {
  exactlyOnce,
  type Handler,
  type HandlerContext,
  type Middleware,
  Worker,
  type WorkerHealth,
  type WorkerOptions,
} from "./worker.js";
