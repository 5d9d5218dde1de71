export { cancelled, TimeSlice } from '@vitrine/protocol/primitives'
